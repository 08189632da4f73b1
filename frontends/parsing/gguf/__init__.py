"""A language model in a GGUF file reads plans off a transcript, held to the tools' schemas."""
