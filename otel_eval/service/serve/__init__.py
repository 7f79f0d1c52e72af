"""The online scorer: what arrives is kept, read when it is complete, selected, scored and sent on."""
