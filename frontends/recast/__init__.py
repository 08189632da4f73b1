"""ReCAST (Repair and Early Commitment Assessment for Streaming Tools), synthesized anew.

`grammar` says what can be said, `script` draws what is said, `synth` speaks it, `timeline` lays the
segments out in time and annotates them, `pilot` is the first recipe.
"""
