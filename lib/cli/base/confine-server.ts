import { ownPlaces, type Paths } from '../../config/paths.js';
import { HiError } from '../../errors.js';
import { isPrivatePath } from '../../permission/paths/private-places.js';
import { realPath } from '../../permission/paths/resolve-path.js';
import { type Permissions, readRules } from '../../permission/rules/rules.js';
import { NotConfinable } from '../../permission/sandbox/confinement.js';
import { replacementFile } from '../../permission/sandbox/replacement-file.js';
import { type ConfinedRun, Sandbox } from '../../permission/sandbox/sandbox.js';
import { sandboxProblem } from '../../permission/sandbox/sandbox-kind.js';
import { tools } from '../../tools/index.js';
import { SERVER_TOOLS } from './warnings.js';

/**
 * A server runs for a long time, so its writes could not be told apart from the user's when setting aside files that other programs would run. So it may write
 * only temporary files.
 */
const GRANT = { write: false, network: true, files: [] };

/** The session that a server is started in. */
interface ServerSession {
  readonly paths: Paths;
  readonly deny: Permissions['deny'];
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const INSTEAD = `remove "sandbox" from the server's entry`;
const HINT =
  process.platform === 'linux'
    ? `Install bubblewrap (Debian: apt install bubblewrap), or ${INSTEAD}.`
    : `To start it without a sandbox, ${INSTEAD}.`;

/**
 * Sandboxes a server's program that runs in `folder`: it sees what commands in the working folder `root` see, its own folder, and what its entry opens
 * (`read`). Throws a `HiError` if that is impossible.
 */
export async function confineServer(
  { paths, deny, root, env }: ServerSession,
  folder: string,
  read: readonly string[],
): Promise<ConfinedRun> {
  const problem = await sandboxProblem();
  if (problem !== null) throw new HiError('config', `Not started: ${problem}. ${HINT}`);
  const rules = readRules({ allow: [], ask: [], deny }, [...tools, SERVER_TOOLS], root);
  const sandbox = new Sandbox({
    root,
    ownPlaces: ownPlaces(paths),
    freeFolders: [],
    fileOf: (text) => replacementFile(paths.outputs, text),
    env,
    rules: () => rules,
  });
  try {
    // A private folder is opened by name only, not by starting in it: an entry of a project may say where, but not what is read.
    const own = isPrivatePath(realPath(folder)) ? [] : [folder];
    return await sandbox.confine({ ...GRANT, read: [...own, ...read] }, folder);
  } catch (thrown) {
    if (!(thrown instanceof NotConfinable)) throw thrown;
    throw new HiError('config', `Not started: ${thrown.reason}.`, { cause: thrown });
  }
}
