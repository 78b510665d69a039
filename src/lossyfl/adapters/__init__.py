"""What every framework's adapter needs: a model as one vector, messages, store, peers, journal."""
