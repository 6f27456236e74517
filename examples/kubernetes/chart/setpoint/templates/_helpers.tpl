{{- define "setpoint.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* Names of pods of a StatefulSet and their labels have 63 characters at most. */}}
{{- define "setpoint.fullname" -}}
{{- $name := include "setpoint.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What belongs to the cluster has the namespace in its name, so that two releases do not collide. */}}
{{- define "setpoint.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "setpoint.fullname" .) -}}
{{- end -}}

{{- define "setpoint.selector" -}}
app.kubernetes.io/name: {{ include "setpoint.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controller
{{- end -}}

{{- define "setpoint.labels" -}}
{{ include "setpoint.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "setpoint.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "setpoint.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "setpoint.watched" -}}
{{- default .Release.Namespace .Values.watchNamespace -}}
{{- end -}}

{{- define "setpoint.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* What the controller may do with the objects that it watches, and with what they name. */}}
{{- define "setpoint.watchRules" -}}
- apiGroups: [setpoint.dev]
  resources: [settingstargets, settingsapprovals]
  verbs: [get, list, watch]
- apiGroups: [setpoint.dev]
  resources: [settingstargets/status, settingsapprovals/status]
  verbs: [patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- with .Values.rbac }}
{{- if .readSecrets }}
- apiGroups: ['']
  resources: [secrets]
  verbs: [get]
  {{- with .secretNames }}
  resourceNames: {{ toJson . }}
  {{- end }}
{{- end }}
{{- if .readConfigMaps }}
- apiGroups: ['']
  resources: [configmaps]
  verbs: [get]
  {{- with .configMapNames }}
  resourceNames: {{ toJson . }}
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}
