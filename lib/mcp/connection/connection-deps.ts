import type { Exclusive } from '../auth/login-file.js';
import type { Elicit } from '../elicitation/elicitation.js';
import type { Values } from './look-up.js';
import type { ConfinedProgram } from './spawn-server.js';

/** What every connection of a session is made with. */
export interface ConnectionDeps {
  readonly values: Values;
  /** Throws where nothing may be sent to that address with these headers. */
  allow(url: string, headers: Readonly<Record<string, string>>): void;
  /** Shuts in a program that runs in this folder. Throws a `HiError` where that cannot be done. */
  confine(folder: string): Promise<ConfinedProgram>;
  /** The working folder of servers that name none. */
  readonly cwd: string;
  readonly home: string;
  readonly version: string;
  /** Where the logs are. */
  readonly logs: string;
  /** Asks the user what a server wants to know; absent where nobody can be asked. */
  readonly elicit?: Elicit;
  /** Whether the session is long enough to be told of changes. */
  readonly listens?: boolean;
  /** Where the logins are, and the lock of each. */
  readonly logins: string;
  readonly exclusively: Exclusive;
}
