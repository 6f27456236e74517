// What a SettingsTarget has besides the blocks of settings.yaml, what a SettingsPolicy has, and how kubectl shows them.

const text = (description, more = {}) => ({ type: 'string', description, ...more });
const time = (description) => text(description, { format: 'date-time' });
const object = (description, properties, required) => ({
  type: 'object',
  description,
  properties,
  ...(required === undefined ? {} : { required }),
});

/** Text without references: a single `$` before a brace. Go's expressions look neither ahead nor back. */
export const NO_REFERENCE = '^([^$]|\\$[^${]|\\$\\$+[^$])*\\$*$';
const DIGEST = '^sha256:[0-9a-f]{64}$';
const NAME = { minLength: 1, maxLength: 253, pattern: '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$' };
const KEY = { minLength: 1, maxLength: 253, pattern: '^[-._a-zA-Z0-9]+$' };
const PATH = { minLength: 1, maxLength: 2048, pattern: NO_REFERENCE };

const secretKeyRef = object(
  'A key of a Secret in the same namespace.',
  {
    name: text('The name of the Secret.', NAME),
    key: text('The key in it.', KEY),
  },
  ['name', 'key'],
);

/** The definition of SettingsTarget around the blocks. */
export function frame({ data, guards, watch, server }) {
  return definitionOf('SettingsTarget', {
    shortName: 'spt',
    scope: 'Namespaced',
    columns: columns(),
    description: 'The settings of one OpenHands server, and whether it has them.',
    properties: { spec: spec({ data, guards, watch, server }), status: status() },
  });
}

/** The definition of SettingsApproval: the right to create one is the right to approve. */
export function approvalFrame() {
  const ready = (member) => `.status.conditions[?(@.type=="Ready")].${member}`;
  const spec = {
    ...object(
      'The plan that is approved. It never changes: make a new approval.',
      {
        target: text('The name of the SettingsTarget, in the same namespace.', NAME),
        planDigest: text('The digest of its status.plan.', { maxLength: 71, pattern: DIGEST }),
        expiresAt: { ...time('When it ends. Default: when it is deleted.'), maxLength: 40 },
        approver: text(
          'Who approves. An admission policy can hold it to the user of the request.',
          {
            maxLength: 256,
          },
        ),
      },
      ['target', 'planDigest'],
    ),
    'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'an approval never changes' }],
  };
  return definitionOf('SettingsApproval', {
    shortName: 'spa',
    scope: 'Namespaced',
    columns: [
      column('Target', 'string', '.spec.target'),
      column('Approver', 'string', '.spec.approver'),
      column('Expires', 'string', '.spec.expiresAt'),
      column('Reason', 'string', ready('reason')),
      column('Age', 'date', '.metadata.creationTimestamp'),
    ],
    description: 'The approval of one plan of a SettingsTarget.',
    properties: {
      spec,
      status: object('What became of it.', {
        observedGeneration: { type: 'integer', format: 'int64' },
        usedAt: time('When its plan was written.'),
        conditions: conditions('Ready.'),
      }),
    },
  });
}

/** The definition of SettingsPolicy. `guards` are the schemas of spec.guards of a SettingsTarget, `interval` that of its spec.interval. */
export function policyFrame({ guards, interval }) {
  const rules = Object.entries(guards.properties)
    .filter(([name, { type }]) => type === 'boolean' && name !== 'protected')
    .map(([name]) => name);
  return definitionOf('SettingsPolicy', {
    shortName: 'spp',
    scope: 'Cluster',
    columns: [
      column('Origins', 'string', '.spec.allowedOrigins'),
      column('Modes', 'string', '.spec.modes'),
      column('Forbidden', 'string', '.spec.forbidden'),
      column('Min Interval', 'string', '.spec.minInterval'),
      column('Age', 'date', '.metadata.creationTimestamp'),
    ],
    description: 'What the SettingsTargets of namespaces may do, whatever they declare.',
    properties: { spec: policySpec(rules, interval) },
  });
}

function definitionOf(kind, { shortName, scope, columns: shown, description, properties }) {
  const singular = kind.toLowerCase();
  const plural = singular.replace(/y$/, 'ie') + 's';
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.setpoint.dev`,
      annotations: { 'kustomize.toolkit.fluxcd.io/substitute': 'disabled' },
    },
    spec: {
      group: 'setpoint.dev',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        shortNames: [shortName],
        categories: ['setpoint'],
      },
      scope,
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          additionalPrinterColumns: shown,
          ...('status' in properties ? { subresources: { status: {} } } : {}),
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description,
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                ...properties,
              },
            },
          },
        },
      ],
    },
  };
}

const column = (name, type, jsonPath, more = {}) => ({ name, type, jsonPath, ...more });

/** A set of texts. */
const set = (description, items, more = {}) => ({
  type: 'array',
  description,
  maxItems: 1000,
  ...more,
  items: { type: 'string', ...items },
  'x-kubernetes-list-type': 'set',
});

function policySpec(rules, interval) {
  const allowances = [
    'allowedOrigins',
    'modes',
    'forbidden',
    'minInterval',
    'requireApproval',
    'limits',
  ];
  return {
    ...object('What is allowed, and where.', {
      namespaceSelector: namespaceSelector(),
      allowedOrigins: set(
        'Where keys may be sent: origins or hosts, such as https://*.example.com. Default: where the controller allows.',
        { minLength: 1, maxLength: 253, pattern: '^[^${}]+$' },
      ),
      modes: set(
        'The modes that SettingsTargets may have. Default: both.',
        {
          enum: ['Observe', 'Apply'],
        },
        { minItems: 1 },
      ),
      forbidden: set('Rules of spec.guards that refuse a plan whatever an object declares.', {
        enum: rules,
      }),
      minInterval: {
        ...interval,
        description: 'How often a server may be read: a shorter interval counts as this.',
      },
      requireApproval: {
        type: 'boolean',
        description: 'Whether a plan is written only if a SettingsApproval names its digest.',
      },
      limits: object('What each namespace may have.', {
        maxTargets: {
          type: 'integer',
          format: 'int64',
          minimum: 0,
          description: 'SettingsTargets that are watched: the oldest ones.',
        },
        maxReads: {
          type: 'integer',
          format: 'int64',
          minimum: 1,
          description: 'Servers that are read at a time. Others wait for their turn.',
        },
      }),
    }),
    'x-kubernetes-validations': [
      {
        rule: allowances.map((name) => `has(self.${name})`).join(' || '),
        message: `declare one of ${allowances.join(', ')}`,
      },
    ],
  };
}

/** A LabelSelector. Each namespace has its name as the label kubernetes.io/metadata.name. */
function namespaceSelector() {
  const values = { type: 'array', maxItems: 1000, items: { type: 'string' } };
  return object('The namespaces that it is about, by their labels. Default: all.', {
    matchLabels: { type: 'object', additionalProperties: { type: 'string' } },
    matchExpressions: {
      type: 'array',
      maxItems: 100,
      items: object(
        'A requirement.',
        {
          key: text('The label.'),
          operator: text('How the label is compared.', {
            enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
          }),
          values: { ...values, description: 'What In and NotIn compare with.' },
        },
        ['key', 'operator'],
      ),
      'x-kubernetes-list-type': 'atomic',
    },
  });
}

function columns() {
  const condition = (type, member) => `.status.conditions[?(@.type=="${type}")].${member}`;
  return [
    column('Mode', 'string', '.spec.mode'),
    column('Sync', 'string', '.status.sync'),
    column('Changes', 'integer', '.status.plan.changes'),
    column('Ready', 'string', condition('Ready', 'status')),
    column('Reason', 'string', condition('Ready', 'reason')),
    column('Release', 'string', '.status.target.release'),
    column('Last Look', 'date', '.status.lastLook.time'),
    column('Age', 'date', '.metadata.creationTimestamp'),
    column('Origin', 'string', '.status.target.origin', { priority: 1 }),
  ];
}

function spec({ data, guards, watch, server }) {
  const { mode: _mode, interval, ...watched } = watch.properties;
  const declared = [...Object.keys(data), 'native', 'clear'];
  const none = declared.map((name) => `!has(self.${name})`).join(' && ');
  const some = [...declared, 'valuesFrom'].map((name) => `has(self.${name})`).join(' || ');
  return {
    type: 'object',
    required: ['server', 'mode'],
    'x-kubernetes-validations': [
      {
        rule: `!has(self.settingsFrom) || (${none})`,
        message: 'settingsFrom is a whole settings.yaml: nothing else is declared beside it',
      },
      {
        rule: `has(self.settingsFrom) || ${some}`,
        message: 'declare settings, or name a ConfigMap with settingsFrom',
      },
    ],
    properties: {
      server: serverOf(server.properties),
      mode: text('Observe only looks, Apply also writes.', { enum: ['Observe', 'Apply'] }),
      interval: { ...interval, description: 'How often the server is read, such as 5m.' },
      suspend: { type: 'boolean', description: 'Whether nothing is read and written.' },
      settingsFrom: settingsFrom(),
      ...data,
      native: {
        type: 'object',
        description: 'Members of settings that only later servers have.',
        'x-kubernetes-preserve-unknown-fields': true,
      },
      valuesFrom: valuesFrom(),
      clear: {
        type: 'array',
        description: 'Paths to clear or remove, as null does in settings.yaml.',
        maxItems: 1000,
        items: { type: 'string', ...PATH },
        'x-kubernetes-list-type': 'set',
      },
      unmanaged: {
        type: 'array',
        description: 'Paths that are left alone although something above them is declared.',
        maxItems: 1000,
        items: { type: 'string', ...PATH },
        'x-kubernetes-list-type': 'set',
      },
      guards,
      watch: { ...watch, properties: watched },
      approval: object(
        'Apply writes approved plans only: this one, and those of SettingsApprovals.',
        {
          planDigest: text('The digest of status.plan.', { pattern: DIGEST }),
        },
      ),
    },
  };
}

function serverOf({ auth, dialect, compare_secrets: compareSecrets }) {
  const origin = (whose) => `${whose}.find('^[A-Za-z]+://[^/]+').lowerAscii()`;
  const url = text('The address of the server. Its origin never changes.', {
    maxLength: 2048,
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#@${}]+(/[^\\s?#{}]*)?$',
    'x-kubernetes-validations': [
      { rule: 'isURL(self)', message: 'must be an address with http or https and a host' },
      {
        rule: `${origin('oldSelf')} == ${origin('self')}`,
        message: 'the origin cannot change: a key would travel to another host; make a new object',
      },
    ],
  });
  const headers = {
    type: 'array',
    description: 'Headers for an access proxy before the server.',
    maxItems: 100,
    items: object(
      'A header.',
      {
        name: text('Its name.', { minLength: 1, maxLength: 256, pattern: '^[^${}]+$' }),
        secretKeyRef,
      },
      ['name', 'secretKeyRef'],
    ),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  };
  const apiKeySecretRef = { ...secretKeyRef, description: 'The key of the server.' };
  return object(
    'How the server is reached.',
    { url, apiKeySecretRef, headers, auth, dialect, compareSecrets },
    ['url'],
  );
}

function settingsFrom() {
  return object(
    'A whole settings.yaml, in place of all that is declared here.',
    {
      configMapKeyRef: object(
        'A key of a ConfigMap in the same namespace.',
        { name: text('The name of the ConfigMap.', NAME), key: text('The key in it.', KEY) },
        ['name', 'key'],
      ),
      environment: text('The environment of it, if it has several.', {
        minLength: 1,
        maxLength: 256,
        pattern: NO_REFERENCE,
      }),
    },
    ['configMapKeyRef'],
  );
}

function valuesFrom() {
  const optional = {
    type: 'boolean',
    description: 'Whether what is declared at the path holds if there is no such key.',
  };
  const item = object(
    'A value from a Secret.',
    {
      path: text('Where it goes, such as settings.llm_api_key.', PATH),
      secretKeyRef: {
        ...secretKeyRef,
        properties: { ...secretKeyRef.properties, optional },
      },
    },
    ['path', 'secretKeyRef'],
  );
  return {
    type: 'array',
    description: 'Values that are in Secrets, by the paths they go to.',
    maxItems: 1000,
    items: item,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['path'],
  };
}

function status() {
  const at = (description) =>
    object(description, { time: time('When.'), digest: text('The digest of the plan.') });
  const count = { type: 'integer', format: 'int64' };
  return object('What was found last.', {
    observedGeneration: { ...count, description: 'The generation of the spec that was looked at.' },
    lastHandledReconcileAt: text('The annotation that asked for a look, once it is answered.'),
    sync: text('Whether the server has what is declared.', {
      enum: ['Synced', 'OutOfSync', 'Unknown'],
    }),
    conditions: conditions('Ready, Drifted, Verified, Suspended, Reconciling and Stalled.'),
    target: object('The server as it was found.', {
      origin: text('Its origin.'),
      dialect: text('How it speaks of its settings.'),
      release: text('Its release, if it tells.'),
    }),
    plan: plan(count),
    lastLook: at('The last time the server was read.'),
    lastInSync: at('The last time it had all that is declared.'),
    lastApplied: at('The last time it was written.'),
    nextRead: time('When it is read next, as of the last status.'),
    history: {
      type: 'array',
      description: 'The last writes, the latest first.',
      maxItems: 10,
      items: object(
        'A write.',
        {
          time: time('When.'),
          generation: count,
          digest: text('The digest of the plan.'),
          result: text('How it ended.'),
          changes: count,
          approval: text('The SettingsApproval that covered it, or spec.approval.'),
          approver: text('The person whom that names.'),
        },
        ['time', 'digest', 'result'],
      ),
      'x-kubernetes-list-type': 'atomic',
    },
    secretFingerprints: fingerprints(),
  });
}

function fingerprints() {
  return object('What was written from Secrets, as digests under a key of the controller.', {
    keyId: text('Which key that was.', { maxLength: 64 }),
    address: text('A digest of the address they were sent to.', { maxLength: 64 }),
    entries: {
      type: 'array',
      description: 'A digest of each value.',
      maxItems: 1000,
      items: object(
        'A value.',
        {
          path: {
            type: 'array',
            description: 'Where it went.',
            maxItems: 20,
            items: { type: 'string', maxLength: 2048 },
            'x-kubernetes-list-type': 'atomic',
          },
          hmac: text('A digest of the value.', { maxLength: 64 }),
        },
        ['path', 'hmac'],
      ),
      'x-kubernetes-list-type': 'atomic',
    },
  });
}

function plan(count) {
  return object('What Apply would write, without secrets.', {
    digest: text('What spec.approval names.'),
    changes: { ...count, description: 'How many changes there are.' },
    summary: text('The changes in words.'),
    items: {
      type: 'array',
      description: 'The first changes.',
      maxItems: 50,
      items: object(
        'A change.',
        {
          path: text('What changes.'),
          action: text('What is done.'),
          before: text('What the server has.'),
          after: text('What it will have.'),
          sensitive: { type: 'boolean', description: 'Whether the values are not shown.' },
        },
        ['path', 'action'],
      ),
      'x-kubernetes-list-type': 'atomic',
    },
  });
}

function conditions(description) {
  return {
    type: 'array',
    description,
    maxItems: 20,
    items: object(
      'A condition.',
      {
        type: text('What it is about.', { maxLength: 316 }),
        status: text('True, False or Unknown.', { enum: ['True', 'False', 'Unknown'] }),
        reason: text('One word for why.', { maxLength: 1024 }),
        message: text('The reason in words.', { maxLength: 32768 }),
        lastTransitionTime: time('When the status changed.'),
        observedGeneration: { type: 'integer', format: 'int64' },
      },
      ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
    ),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  };
}
