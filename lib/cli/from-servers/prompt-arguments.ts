import { HiError } from '../../errors.js';
import type { PromptDefinition } from '../../mcp/definitions/definition.js';
import { argumentOf } from '../own-commands/fill-in.js';

/**
 * The arguments of a prompt in what follows its name: `name=value`, or values in the order of the arguments, of which the last one takes all that is left.
 * Throws a `HiError` for words that no argument takes.
 */
export function argumentsIn(
  { arguments: all }: PromptDefinition,
  typed: string,
  text: string,
): Readonly<Record<string, string>> {
  const args: Record<string, string> = {};
  const others: string[] = [];
  for (const word of argumentOf(text).words) {
    const name = all.find((one) => word.startsWith(`${one.name}=`))?.name;
    if (name === undefined || Object.hasOwn(args, name)) others.push(word);
    else args[name] = word.slice(name.length + 1);
  }
  const open = all.filter(({ name }) => !Object.hasOwn(args, name));
  for (const [index, { name }] of open.entries()) {
    if (others.length === 0) break;
    args[name] = (index === open.length - 1 ? others.splice(0) : others.splice(0, 1)).join(' ');
  }
  if (others.length > 0)
    throw new HiError('usage', `/${typed} takes no more arguments: '${others.join(' ')}'.`, {
      hint: all.length === 0 ? `Type: /${typed}` : `It takes: ${all.map(({ name }) => name).join(', ')}.`,
    });
  return args;
}
