/**
 * The marks of FinalTerm (OSC 133), which say what on the screen is a prompt, an input and an output. Terminals that know them jump from prompt to prompt and
 * copy one output (iTerm2, kitty, WezTerm, Ghostty, VS Code, Windows Terminal, tmux); the others show nothing.
 */
const mark = (zone: string): string => `\x1b]133;${zone}\x1b\\`;

/** A prompt between its marks, at the start of a row: what follows is the input. The line redraws itself, so kitty must not erase it when its size changes. */
export function markedPrompt(prompt: string): string {
  return mark('A;redraw=0') + prompt + mark('B');
}

/** Begins what an input leads to. */
export const OUTPUT_START = mark('C');

/** Ends it. */
export const OUTPUT_END = mark('D');
