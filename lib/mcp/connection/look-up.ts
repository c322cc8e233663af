import { HiError } from '../../errors.js';

/** Where values come from. */
export interface Values {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs the command of a value such as `"!pass show github"` and resolves to its first line. */
  run(command: string): Promise<string>;
}

const VARIABLE = /\$\{([^${}]*)\}/g;

/**
 * Resolves a value: `"!command"` becomes the command's output, `${NAME}` an environment variable, `${NAME:-other}` one with a
 * default. Throws a `HiError` that names a variable that is not set.
 */
export async function lookUp(value: string, { env, run }: Values): Promise<string> {
  if (value.startsWith('!')) return await run(value.slice(1));
  return value.replace(VARIABLE, (_, inner: string) => {
    const [name = '', ...rest] = inner.split(':-');
    const otherwise = rest.length === 0 ? undefined : rest.join(':-');
    const found = env[name] || otherwise;
    if (found !== undefined) return found;
    throw new HiError('config', `The environment variable ${name} is not set.`, {
      hint: `Set it, or write \${${name}:-VALUE} in mcpServers.`,
    });
  });
}

/** All values of an object in the same way. */
export async function lookUpAll(
  values: Readonly<Record<string, string>>,
  source: Values,
): Promise<Record<string, string>> {
  const found = await Promise.all(
    Object.entries(values).map(async ([name, value]) => [name, await lookUp(value, source)] as const),
  );
  return Object.fromEntries(found);
}
