local actions = {}
actions["refresh"] = { ["disabled"] = obj.spec.suspend == true }
return actions
