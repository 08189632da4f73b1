"""Audio to traces: prefix decoding, parsers, and the data sets made with them."""
