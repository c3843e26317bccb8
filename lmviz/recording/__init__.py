"""Recording a training of another program from inside it: its module as it is, written as a run of lmviz."""
