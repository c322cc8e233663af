import { rmSync } from 'node:fs';
import type { Metafile } from 'esbuild';

/** The tables of `options`, which members load for the build and the documentation only. esbuild cannot know that the program never does. */
const TABLES = /^lib\/providers\/[^/]+\/[^/]+-options\.ts$/;

/** The only module that asks members for them. */
const CALLER = 'lib/providers/option-tables.ts';

/** Removes the chunks that only these tables need, and returns their paths. Throws if there are none, or if the program needs them. */
export function removeBuildOnly({ inputs, outputs }: Pick<Metafile, 'inputs' | 'outputs'>): readonly string[] {
  if (CALLER in inputs) throw new Error(`The program imports ${CALLER}, whose tables the build removes.`);
  const isTable = (path: string): boolean => TABLES.test(outputs[path]?.entryPoint ?? '');
  const importersOf = (chunk: string): readonly string[] =>
    Object.keys(outputs).filter((path) => outputs[path]?.imports.some((one) => one.path === chunk));
  const removed = Object.keys(outputs).filter(
    (path) => isTable(path) || (importersOf(path).length > 0 && importersOf(path).every(isTable)),
  );
  if (removed.length === 0)
    throw new Error(`No chunk comes from ${TABLES}: 'remove build only' has nothing to remove.`);
  for (const path of removed) rmSync(path, { force: true });
  return removed;
}
