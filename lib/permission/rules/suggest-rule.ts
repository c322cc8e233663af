import { basename } from 'node:path';
import type { ShellPart } from '../shell/read-command.js';

/** Programs whose second word is a subcommand. */
const WITH_SUBCOMMAND = new Set(
  'git npm pnpm yarn bun cargo go docker podman kubectl helm pip pip3 uv poetry apt brew dotnet gradle mvn make just terraform gh systemctl deno composer bundle rails mix flutter'.split(
    ' ',
  ),
);

/** Subcommands that run what the third word names. */
const SCRIPT_RUNNERS = new Set(['run', 'run-script', 'exec', 'x', 'dlx']);

/** Subcommands that delete, publish or run something elsewhere: approval of one call says nothing about the next. */
const RISKY_SUBCOMMANDS = new Set(
  'push reset clean rm delete destroy apply publish unpublish uninstall remove prune purge drop stop kill deploy release rollback api auth system'.split(
    ' ',
  ),
);

/** Programs whose `exec` runs in a container: the third word names the container, not the command. */
const REMOTE_EXEC = new Set(['docker', 'podman', 'kubectl']);

/** Programs that only read or check: they need no new question when their arguments change. */
const READ_ONLY_PROGRAMS = new Set(
  'ls cat head tail wc grep rg fd tree stat file du df ps pwd whoami date uname which type echo diff cmp sort uniq cut tr nl tac jq yq md5sum sha256sum basename dirname realpath readlink test printenv tsc eslint biome prettier jest vitest pytest mypy ruff'.split(
    ' ',
  ),
);

/**
 * The rule that "always" stores for a command line in which `uncovered` has no rule yet: a prefix for what reads or builds, the
 * exact text for what changes things. Null when neither would allow it the next time. `tool` is the name that rules about commands
 * begin with.
 */
export function suggestCommandRule(tool: string, command: string, uncovered: readonly ShellPart[]): string | null {
  const [part, ...others] = uncovered;
  const prefix = part?.kind === 'command' && others.length === 0 ? prefixOf(part) : null;
  const text = prefix === null ? exactText(command, uncovered) : `${prefix}:*`;
  return text === null ? null : `${tool}(${text})`;
}

function prefixOf({ assignments, words, inner, uncertainty }: Extract<ShellPart, { kind: 'command' }>): string | null {
  const [name, second] = words.map((word) => word.value);
  if (assignments.length > 0 || inner !== null || uncertainty !== null || typeof name !== 'string' || !isPlain(name))
    return null;
  const program = basename(name);
  if (READ_ONLY_PROGRAMS.has(program)) return name;
  const isSubcommand = typeof second === 'string' && /^[a-z][\w:-]*$/.test(second);
  if (!WITH_SUBCOMMAND.has(program) || !isSubcommand || RISKY_SUBCOMMANDS.has(second)) return null;
  if (!SCRIPT_RUNNERS.has(second)) return `${name} ${second}`;
  const third = words[2]?.value;
  // `npm run build` and `npm run deploy` are different commands.
  const isScript = typeof third === 'string' && isPlain(third) && !third.startsWith('-');
  return isScript && !(second === 'exec' && REMOTE_EXEC.has(program)) ? `${name} ${second} ${third}` : null;
}

const isPlain = (word: string): boolean => /^[\w./:@-]+$/.test(word) && !word.endsWith(':*');

function exactText(command: string, uncovered: readonly ShellPart[]): string | null {
  const text = command.trim();
  const isShort =
    text.length <= 200 && !/[\u0000-\u001f\u007f-\u009f]/.test(text) && !text.endsWith(':*') && text !== '*';
  return isShort && !uncovered.some(isUnclear) ? text : null;
}

function isUnclear(part: ShellPart): boolean {
  return (
    part.kind === 'unclear' ||
    (part.kind === 'command' &&
      part.uncertainty?.mayHideCommands === true &&
      part.uncertainty.index === Number.POSITIVE_INFINITY)
  );
}
