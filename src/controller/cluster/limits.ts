const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Limits of one SettingsTarget and of the objects that it names. Content above one of them is not read, and the status of the object
 * reports it.
 */
export const OBJECT_LIMITS = {
  /** Bytes of a spec, as the API server sends it. */
  specBytes: 256 * KIB,
  /** Commas, colons and brackets of a spec: two for each value that has a name. 1,000 entries of valuesFrom have 11,000. */
  specTokens: 12_000,
  /** Levels of maps and lists in each other, of a spec and of a status. */
  depth: 100,
  /** Bytes of the text that settingsFrom names. */
  textBytes: 256 * KIB,
  /** Keys and values of that text, as YAML counts them. */
  textScalars: 5_000,
  /** Brackets, commas, dashes, aliases and other marks of that text: an empty entry of a list has one, and no value. */
  textMarks: 10_000,
  /** Its line breaks, indentations and comments. */
  textBlanks: 50_000,
  /** Bytes of metadata: the rest of what a server of etcd takes is not a name. */
  metadataBytes: 2 * MIB,
  /** Secrets that an object names: each read of its server is as many requests. */
  secrets: 50,
  /** Bytes of a status that do not count as memory of its namespace: most have fewer. */
  freeStatusBytes: 8 * KIB,
  /** Bytes of a status. The controller writes at most about 52 KiB: 20, and 32 of fingerprints. */
  statusBytes: 64 * KIB,
  /** Bytes of an annotation that asks for a read. */
  annotationBytes: KIB,
} as const;

/**
 * Limits of what is stored of all SettingsTargets, in bytes of memory as estimated by `estimateStoredSize`: an ordinary object takes about 2 KiB. The newest objects of the
 * namespace that takes the most are refused first.
 */
export const STORE_LIMITS = {
  /** The limit of one namespace. */
  namespace: 20 * MIB,
  /** The limit of all namespaces together. */
  cluster: 32 * MIB,
  /** Objects of one namespace with known facts. Those above are counted only. */
  objects: 20_000,
  /** Bytes of the texts of ConfigMaps that objects of one namespace name: each counts once. */
  namespaceTexts: 4 * MIB,
  /** The limit of texts of all namespaces together. */
  texts: 8 * MIB,
} as const;

/** Limits of what is read of ConfigMaps and Secrets at a time. */
export const OUTSIDE_LIMITS = {
  /** Requests of one namespace at a time. */
  namespace: 2,
  /** Requests of all namespaces at a time. */
  cluster: 6,
} as const;

/** Limits of the values of Secrets. */
export const VALUE_LIMITS = {
  /** Bytes of one. */
  bytes: 64 * KIB,
  /** Bytes of all that an object names, in one run. */
  ofRun: 256 * KIB,
  /** Characters of those that are masked, twice as many at the most: the oldest are not, until they are read again. */
  masked: 2 * MIB,
} as const;

/** Limits of the values of plans that are stored, in characters: what servers answer, and what is declared. Of a longer value the beginning is stored. */
export const PLAN_LIMITS = {
  /** Limits of one object. */
  object: 64 * KIB,
  /** Limits of all objects of a namespace. */
  namespace: 4 * MIB,
  /** Limits of all objects. */
  cluster: 16 * MIB,
} as const;

/** Limits of events, for each object, as client-go counts them. */
export const EVENT_LIMITS = {
  /** Events of all objects that wait to be written. The namespace that has the most of them loses its newest. */
  waiting: 1_000,
  /** Events that are written at once. */
  burst: 25,
  /** Milliseconds after which one more is. */
  every: 300_000,
  /** Milliseconds for which the same event counts up the one before. */
  series: 1_800_000,
} as const;

/** Milliseconds for which objects are read one after the other before the controller does other work, for as long as that took. */
export const WORK_LIMITS = {
  /** Without a pause. */
  atOnce: 20,
  /** The limit of new objects until those that are read are watched. */
  round: 1_000,
} as const;

/** The memory that is needed for an object, in bytes: its values take space in addition to their text. */
export function estimateStoredSize(bytes: number, tokens: number): number {
  return BARE_OBJECT + bytes + TOKEN * tokens;
}

const BARE_OBJECT = KIB;
const TOKEN = 16;

/** A number of bytes for people: 256 KiB. */
export function formatBytes(bytes: number): string {
  if (bytes < KIB) return `${bytes} bytes`;
  const [size, unit] = bytes < MIB ? [bytes / KIB, 'KiB'] : [bytes / MIB, 'MiB'];
  return `${Number.isInteger(size) ? size : size.toFixed(1)} ${unit}`;
}
