"""Learns the adapters of the built-in embedding models (`reverie_indexer.embed.adapter`)."""
