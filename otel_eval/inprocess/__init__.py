"""Inside the application: its spans scored where they end, through its own providers, without standing in its way."""
