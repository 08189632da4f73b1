"""Audio to traces: prefix decoding, parsers, the arrival clock, and the data sets made with them."""
