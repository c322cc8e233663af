import { emptyWorld } from './base/world.js';
import { makeProgram } from './program.js';

/** What `hi --help` prints, generated from the commands. The build evaluates it, so that printing it loads nothing. */
export const HELP = help();

function help(): string {
  let text = '';
  const writeOut = (piece: string): void => {
    text += piece;
  };
  makeProgram(emptyWorld(), () => undefined)
    .configureOutput({ writeOut })
    .outputHelp();
  return text;
}
