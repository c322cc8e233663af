import type { Command } from 'commander';

/** The options of a command and of those before it on the command line. Typed options win over defaults, and later ones over earlier ones. */
export function mergedOptions<Options extends object>(command: Command): Options {
  const chain: Command[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) chain.unshift(one);
  const typed = chain.flatMap((one) =>
    Object.entries(one.opts()).filter(([key]) => one.getOptionValueSource(key) === 'cli'),
  );
  return Object.fromEntries([...Object.entries(command.opts()), ...typed]) as Options;
}
