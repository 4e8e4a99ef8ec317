"""What is remembered, one module a layer; `rooms` ties paths to layers."""
