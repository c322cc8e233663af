/**
 * The marks of FinalTerm (OSC 133), which tell the terminal what is prompt, input and output. Terminals that know them can jump between prompts and
 * copy one output (iTerm2, kitty, WezTerm, Ghostty, VS Code, Windows Terminal, tmux); others ignore them.
 */
const mark = (zone: string): string => `\x1b]133;${zone}\x1b\\`;

/** A prompt between its marks, at the start of a row; the input follows. The line redraws itself, so kitty must not erase it on a resize. */
export function markedPrompt(prompt: string): string {
  return mark('A;redraw=0') + prompt + mark('B');
}

/** Starts the output of an input. */
export const OUTPUT_START = mark('C');

/** Ends the output. */
export const OUTPUT_END = mark('D');
