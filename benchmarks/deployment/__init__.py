"""A real Flower deployment on this machine: a SuperLink, SuperNodes, TLS, and if wanted slow links.

certificates   for the SuperLink, of an authority of their own
processes      everything that is started is stopped
relay          between nodes and SuperLink, to count what travels
network        a namespace and a slow link for every node
superlink      its command, and its environment
app_folder     what `flwr run` runs
federation     all of it together
"""
