/** The kinds of question that answer a server. Loaded when one asks. */
export { checkbox } from '@inquirer/prompts';
export { input, select } from '../terminal/inquirer.js';
