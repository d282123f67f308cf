{{- define "everturn.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "everturn.labels" -}}
app.kubernetes.io/name: everturn
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "everturn.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "everturn.name" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- /* The reference of an image, of a list: the image, the chart. */ -}}
{{- define "everturn.image" -}}
{{- $image := index . 0 -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default (index . 1).AppVersion }}
{{- end -}}
{{- end -}}

{{- define "everturn.run" -}}
{{- required "run.id is required, or pool.name for a pool" .Values.run.id -}}
{{- end -}}

{{- /* The roles that this release starts, as JSON: those of the pool or those of the run, without what the run's pool does. */ -}}
{{- define "everturn.roles" -}}
{{- if .Values.pool.name -}}
{{- if .Values.run.id }}{{ fail "run.id and pool.name exclude each other: use one release for the pool and one for each run" }}{{ end -}}
{{- pick .Values.roles "policy" "trainer" | toJson -}}
{{- else if .Values.run.pool -}}
{{- omit .Values.roles "policy" "trainer" | toJson -}}
{{- else -}}
{{- .Values.roles | toJson -}}
{{- end -}}
{{- end -}}

{{- /* The task queue of a role, of a list: the root, the role. */ -}}
{{- define "everturn.queue" -}}
{{- $root := index . 0 -}}
{{- if $root.Values.pool.name -}}
pool:{{ $root.Values.pool.name }}/{{ index . 1 }}
{{- else -}}
{{ include "everturn.run" $root }}/{{ index . 1 }}
{{- end -}}
{{- end -}}

{{- /* The environment of every process. */ -}}
{{- define "everturn.env" -}}
- name: TEMPORAL_ADDRESS
  value: {{ required "temporal.address is required, such as temporal:7233" .Values.temporal.address | quote }}
- name: TEMPORAL_NAMESPACE
  value: {{ .Values.temporal.namespace | quote }}
{{- if .Values.temporal.apiKeySecret }}
- name: TEMPORAL_API_KEY
  valueFrom: { secretKeyRef: { name: {{ .Values.temporal.apiKeySecret | quote }}, key: api-key } }
{{- end }}
{{- if or .Values.temporal.tls .Values.temporal.tlsSecret }}
- name: TEMPORAL_TLS
  value: "true"
{{- end }}
{{- with .Values.temporal.serverName }}
- name: TEMPORAL_TLS_SERVER_NAME
  value: {{ . | quote }}
{{- end }}
{{- with .Values.temporal.tlsSecret }}
- name: TEMPORAL_TLS_CLIENT_CERT_DATA
  valueFrom: { secretKeyRef: { name: {{ . | quote }}, key: tls.crt } }
- name: TEMPORAL_TLS_CLIENT_KEY_DATA
  valueFrom: { secretKeyRef: { name: {{ . | quote }}, key: tls.key } }
- name: TEMPORAL_TLS_SERVER_CA_CERT_DATA
  valueFrom: { secretKeyRef: { name: {{ . | quote }}, key: ca.crt, optional: true } }
{{- end }}
- name: EVERTURN_STORE
  value: {{ required "store.address is required, such as s3://bucket/runs" .Values.store.address | quote }}
- name: AWS_REGION
  value: {{ .Values.store.region | quote }}
{{- with .Values.store.endpoint }}
- name: AWS_ENDPOINT_URL_S3
  value: {{ . | quote }}
{{- end }}
{{- with .Values.store.secret }}
- name: AWS_ACCESS_KEY_ID
  valueFrom: { secretKeyRef: { name: {{ . | quote }}, key: AWS_ACCESS_KEY_ID } }
- name: AWS_SECRET_ACCESS_KEY
  valueFrom: { secretKeyRef: { name: {{ . | quote }}, key: AWS_SECRET_ACCESS_KEY } }
{{- end }}
{{- with .Values.telemetry.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: OTEL_RESOURCE_ATTRIBUTES
  value: service.instance.id=$(POD_NAME)
{{- end }}
{{- end -}}

{{- /* Everything of a pod but its container's command, of a dict: root, component, settings (of the role), args. */ -}}
{{- define "everturn.pod" -}}
{{- $root := .root -}}
{{- $settings := .settings -}}
serviceAccountName: {{ include "everturn.serviceAccount" $root }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with $settings.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $settings.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with $settings.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with $settings.affinity }}
affinity: {{ toJson . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- $image := ternary $root.Values.gpuImage $root.Values.image (default false $settings.gpu) }}
{{- if $settings.gpu }}
initContainers:
  # The home folder is an empty volume, and CUDA's libraries are in the image.
  - name: libraries
    image: {{ include "everturn.image" (list $image $root.Chart) }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    command: ["/bin/sh", "-c", "mkdir -p /home/node/.cache/everturn && ln -sfn /opt/everturn/wheels /home/node/.cache/everturn/wheels"]
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    resources:
      requests: { cpu: 10m, memory: 16Mi }
      limits: { memory: 64Mi }
    volumeMounts:
      - { name: scratch, mountPath: /home/node, subPath: home }
{{- end }}
containers:
  - name: everturn
    image: {{ include "everturn.image" (list $image $root.Chart) }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: {{ toJson .args }}
    env:
      {{- include "everturn.env" $root | nindent 6 }}
      {{- with $settings.env }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- with $root.Values.codec.secret }}
    envFrom:
      - secretRef: { name: {{ . | quote }} }
    {{- end }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    resources: {{ toJson $settings.resources }}
    volumeMounts:
      - { name: scratch, mountPath: /home/node, subPath: home }
      - { name: scratch, mountPath: /tmp, subPath: tmp }
volumes:
  - name: scratch
    emptyDir: { sizeLimit: {{ $root.Values.scratch.sizeLimit }} }
{{- end -}}
