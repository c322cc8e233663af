import { HiError } from '../../errors.js';

/** The server requires a login. The message says how. */
export class LoginNeeded extends HiError {
  constructor(server: string, why: string) {
    super('network', `${why} ${whatToDo(server)}`);
  }
}

const whatToDo = (server: string): string =>
  /^https?:\/\//.test(server)
    ? `Add it with a name, then log in: hi mcp add NAME ${server}`
    : `Run: hi mcp login ${/^[\w.-]+$/.test(server) ? server : JSON.stringify(server)}`;
