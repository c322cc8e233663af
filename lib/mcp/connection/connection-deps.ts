import type { Exclusive } from '../auth/login-file.js';
import type { Elicit } from '../elicitation/elicitation.js';
import type { Values } from './look-up.js';
import type { ConfinedProgram } from './spawn-server.js';

/** What every connection of a session needs. */
export interface ConnectionDeps {
  readonly values: Values;
  /** Throws if these headers must not be sent to that address. */
  allow(url: string, headers: Readonly<Record<string, string>>): void;
  /** Sandboxes a program that runs in this folder. Throws a `HiError` if that is impossible. */
  confine(folder: string, read: readonly string[]): Promise<ConfinedProgram>;
  /** The default working folder of servers. */
  readonly cwd: string;
  readonly home: string;
  readonly version: string;
  /** Where the logs are. */
  readonly logs: string;
  /** Asks the user a server's question. Absent if nobody can be asked. */
  readonly elicit?: Elicit;
  /** Whether to subscribe to changes, which only long sessions need. */
  readonly listens?: boolean;
  /** The folder of the logins and their locks. */
  readonly logins: string;
  readonly exclusively: Exclusive;
}
