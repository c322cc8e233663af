import type { Rules } from '../../permission/rules/rules.js';
import { replacementFile } from '../../permission/sandbox/replacement-file.js';
import type { Sandbox } from '../../permission/sandbox/sandbox.js';
import type { ToolContext } from '../common/tool.js';

/** What the sandbox of a session is made from. */
interface SandboxOwner {
  readonly context: ToolContext;
  readonly ownPlaces?: readonly string[];
  readonly freeFolders?: readonly string[];
}

/** The sandbox of the session, created when the first command needs it. */
export function sandboxOnce(options: SandboxOwner, rules: () => Rules): () => Promise<Sandbox | null> {
  let made: Promise<Sandbox | null> | null = null;
  const make = async () => {
    const { Sandbox } = await import('../../permission/sandbox/sandbox.js');
    const { sandboxKind } = await import('../../permission/sandbox/sandbox-kind.js');
    const { context, ownPlaces = [], freeFolders = [] } = options;
    if (!context.sandbox && (await sandboxKind()) === null) return null;
    return new Sandbox({
      root: context.cwd.start,
      ownPlaces: [...ownPlaces, ...(context.sandbox?.hidden ?? [])],
      freeFolders: [context.spillFolder, ...freeFolders],
      fileOf: (text) => replacementFile(context.spillFolder, text),
      env: context.env,
      rules,
    });
  };
  return () => {
    made ??= make();
    return made;
  };
}
