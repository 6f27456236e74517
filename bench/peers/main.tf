# What `setpoint drift` does, by OpenTofu and a provider for REST: `plan -detailed-exitcode` reads the settings of each environment of
# fleet.json, and ends with 2 if they are not as declared. It neither validates nor guards anything, and has to have applied once.
terraform {
  required_providers {
    restapi = {
      source = "mastercard/restapi"
    }
  }
}

variable "key" {
  type      = string
  sensitive = true
}

locals {
  fleet = jsondecode(file("fleet.json"))
}

provider "restapi" {
  uri     = local.fleet.origin
  headers = { "X-Session-API-Key" = var.key, "Content-Type" = "application/json" }
}

resource "restapi_object" "settings" {
  for_each = local.fleet.environments

  object_id     = each.key
  path          = "/${each.key}/api/settings"
  create_path   = "/${each.key}/api/settings"
  read_path     = "/${each.key}/api/settings"
  update_path   = "/${each.key}/api/settings"
  update_method = "POST"
  data          = jsonencode(each.value)

  # What is not declared; ignore_server_additions would hide drift of declared fields, too.
  ignore_changes_to = local.fleet.undeclared
}
