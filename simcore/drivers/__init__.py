"""When a policy is asked, and when its commands take effect."""
