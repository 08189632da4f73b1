"""A language model of a few million parameters that reads ReCAST's requests, and how it is made.

It is a Qwen2 model like the ones that the GGUF parser takes from a user, and goes the same way.
"""
