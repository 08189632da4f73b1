"""ReCAST (Repair and Early Commitment Assessment for Streaming Tools), made anew.

`grammar` says what can be said, `script` draws what is said, `recipe` how often, `synth` speaks it,
`timeline` lays it out in time and annotates it, `build` decodes it, `record` keeps what was heard,
and `packs` parses that into traces. `report` tells what came of it.
"""
