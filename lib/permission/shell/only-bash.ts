import type { SyntaxNode } from 'unbash';

/** Syntax that other shells parse differently: in them `$'…'` ends elsewhere, and `[[ a || b ]]` runs `b`. */
const BASH_SYNTAX = /\$['"[]|\$\{(?!\w+\})|<<|\(\(|\[\[|[<>=]\(|&>|\|&|\bfunction\b/;

/** Whether a text has syntax that shells other than bash parse differently. */
export const hasOnlyBashSyntax = (text: string): boolean => BASH_SYNTAX.test(text);

/** The reason to ask about such a text. */
export const parsedDifferently = (shell: string): string => `${shell} may parse it differently`;

/** Variables that decide what runs in zsh, as `PATH` does in every shell. */
export const ZSH_VARIABLES = /^(?:path|cdpath|fpath|module_path)$/;

/** A descriptor above this has two digits, which are a word in other shells. */
const LAST_DESCRIPTOR = 9;

/**
 * Whether a node means something else in other shells, where `a[0]=./x` and `a+=./x` run a program, `{a,b}` and `~+` are the names of files, `cat 10<x` reads
 * `10`, and `time` and `select` are programs.
 */
export function isOnlyBash(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'Assignment':
      return node.index !== undefined || node.append === true || node.value.type === 'ArrayValue';
    case 'Word':
      return /^~[+-]/.test(node.text) || node.parts?.some(({ type }) => type === 'BraceExpansion') === true;
    case 'Redirect':
      return (
        node.descriptor?.type === 'FileDescriptorVariable' ||
        (node.descriptor !== undefined && node.descriptor.value > LAST_DESCRIPTOR)
      );
    case 'Select':
    case 'Time':
    case 'Coproc':
      return true;
    default:
      return false;
  }
}
