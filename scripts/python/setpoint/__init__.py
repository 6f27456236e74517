"""setpoint keeps the settings of OpenHands servers equal to a committed settings.yaml.

This package is the command `setpoint`. It has no Python API.
"""
