-- Health of a SettingsTarget. true: an object of mode Observe is Degraded, too, while its server differs.
local degraded_while_drifted = false

local health = { status = "Progressing", message = "The controller has not read the object yet." }
if obj.status == nil or obj.status.conditions == nil then
  return health
end

local found = {}
for _, condition in ipairs(obj.status.conditions) do
  found[condition.type] = condition
end
local function is_true(name)
  return found[name] ~= nil and found[name].status == "True"
end
local function say(status, condition)
  return { status = status, message = condition.message }
end

if obj.metadata.generation ~= nil and obj.status.observedGeneration ~= obj.metadata.generation then
  if found.Reconciling ~= nil then
    return say("Progressing", found.Reconciling)
  end
  return health
end
if is_true("Suspended") then
  return say("Suspended", found.Suspended)
end
if is_true("Stalled") then
  return say("Degraded", found.Stalled)
end
if is_true("Reconciling") then
  return say("Progressing", found.Reconciling)
end
if not is_true("Ready") then
  return found.Ready == nil and health or say("Progressing", found.Ready)
end
if degraded_while_drifted and is_true("Drifted") then
  return say("Degraded", found.Drifted)
end
return say("Healthy", found.Ready)
