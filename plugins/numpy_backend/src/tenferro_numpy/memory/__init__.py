"""In whose memory values lie, and when it is used again."""
