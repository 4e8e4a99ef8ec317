"""Memory for programs that speak the Model Context Protocol: tools, files as resources, the guide as a prompt.

`openclaw-memory mcp` runs `serving.serve`; a Gateway that wants to serve its own memory uses `server.server_of`. Both
need the `mcp` package (extra `mcp`). Every call is an event on the bus, so contracts and the rules of sessions hold.
"""
