import type { ParameterExpansionPart, SyntaxNode, TestExpression, Word } from 'unbash';
import { shellWord } from './shell-word.js';

/** Why the parser could not read a node; null if it could. */
export function unreadable(node: SyntaxNode): string | null {
  switch (node.type) {
    case 'Script':
      return 'errors' in node && node.errors?.length ? `it cannot be parsed (${node.errors[0]?.message})` : null;
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      return node.script === undefined ? 'a command in it cannot be parsed' : null;
    // The parser takes the slash of ${x/$(/bin/date)/} for the end of the pattern and never sees the command.
    case 'ParameterExpansion':
      return /\$\(|`|[<>]\(/.test(node.text) ? 'a command in it cannot be parsed' : null;
    default:
      return null;
  }
}

/** Why the effect of a construct is unclear; null where its parts show it. */
export function uncertaintyAbout(node: SyntaxNode): string | null {
  switch (node.type) {
    // A variable in arithmetic is evaluated, and its value may contain a command: x='a[$(date)]'; echo $((x)).
    case 'ArithmeticWord':
      return /^\d*$/.test(node.value) ? null : 'it calculates with a variable';
    case 'ArithmeticExpansion':
    case 'ArithmeticCommand':
      return node.expression === undefined ? 'it calculates something that cannot be parsed' : null;
    case 'ParameterExpansion':
      return uncertaintyAboutParameter(node);
    case 'TestUnary':
    case 'TestBinary':
      return uncertaintyAboutTest(node);
    case 'Assignment':
      return node.index === undefined || isNumber(node.index) ? null : 'it calculates an index';
    case 'ExtendedGlob':
      return 'shells parse its pattern differently';
    case 'Coproc':
      return 'it starts a coprocess';
    default:
      return null;
  }
}

const isNumber = (word: Word | undefined): boolean => word === undefined || /^\d+$/.test(shellWord(word).value ?? '');

function uncertaintyAboutParameter({ prefix, index, operation }: ParameterExpansionPart): string | null {
  if (prefix === '!') return 'it expands a variable whose name is in another variable';
  if (index !== undefined && !isNumber(index) && index.text !== '@' && index.text !== '*')
    return 'it calculates an index';
  if (operation?.type === 'Transform' || operation?.type === 'Unknown') return 'it evaluates the value of a variable';
  if (operation?.type === 'Slice' && !(isNumber(operation.offset) && isNumber(operation.length)))
    return 'it calculates a position';
  return null;
}

function uncertaintyAboutTest(test: Extract<TestExpression, { type: 'TestUnary' | 'TestBinary' }>): string | null {
  if (test.type === 'TestUnary') return /^-[vR]$/.test(test.operator) ? 'it evaluates the name of a variable' : null;
  if (!/^-(eq|ne|lt|le|gt|ge)$/.test(test.operator)) return null;
  return isNumber(test.left) && isNumber(test.right) ? null : 'it calculates with a variable';
}

/** Whether an expansion sets its variable: `${name:=value}`. */
export function assigns({ operation }: ParameterExpansionPart): boolean {
  return operation?.type === 'Default' && operation.operator.endsWith('=');
}
