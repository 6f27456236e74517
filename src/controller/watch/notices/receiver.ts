import type { Requirement } from '../../../reconciler/model/selector.ts';
import type { Secret } from '../../../reconciler/model/secret.ts';
import type { NoticeKind } from '../../../reconciler/model/watch.ts';
import type { WatchStatus } from '../../../reconciler/model/verdict.ts';
import type { Template } from './template.ts';

/** The events that a receiver may get; `controller` is about the controller itself. */
export type ReceiverEvent = NoticeKind | 'controller';

/** A receiver of notices: its address and its events. */
export interface Receiver {
  readonly name: string;
  readonly to: Destination;
  /** Patterns of names; null is all environments. */
  readonly environments: readonly string[] | null;
  readonly selector: readonly Requirement[];
  readonly statuses: ReadonlySet<WatchStatus>;
  readonly events: ReadonlySet<ReceiverEvent>;
  /** Milliseconds between two notices of the same state; null if it is sent once. */
  readonly reminder: number | null;
}

export type Destination = Webhook | Alertmanager | Issues;

/** An address that takes messages of one form. Its url, or the key instead of one, and its headers may be secrets. */
export interface Webhook {
  readonly form: 'slack' | 'teams' | 'discord' | 'pagerduty' | 'json';
  readonly url: Secret;
  readonly headers: ReadonlyMap<string, Secret>;
  /** The template in the file; absent for that of the form. */
  readonly template?: Template;
}

/** The address of an Alertmanager, without the path of its API. */
export interface Alertmanager extends Omit<Webhook, 'form' | 'template'> {
  readonly form: 'alertmanager';
}

/** The issues of a repository on GitHub, one for each environment that has drifted. */
export interface Issues {
  readonly form: 'github-issue';
  /** `OWNER/NAME`. */
  readonly repository: string;
  readonly token: Secret;
  readonly apiUrl: string | null;
}

/** An address that is requested while the controller watches, so that a monitor notices when it stops. */
export interface Heartbeat {
  readonly url: Secret;
  /** Milliseconds. */
  readonly every: number;
}

/** The settings in a file of --notify. */
export interface NotifySettings {
  /** The address of the page that messages link to, without a slash at its end. Null for no links. */
  readonly page: string | null;
  readonly receivers: readonly Receiver[];
  readonly heartbeat: Heartbeat | null;
}
