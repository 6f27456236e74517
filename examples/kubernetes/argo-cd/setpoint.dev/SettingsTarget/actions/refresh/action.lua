-- The controller reads the server at once, and answers with the value in status.lastHandledReconcileAt.
local os = require("os")
if obj.metadata.annotations == nil then
  obj.metadata.annotations = {}
end
obj.metadata.annotations["setpoint.dev/requestedAt"] = os.date("!%Y-%m-%dT%H:%M:%SZ")
return obj
