/** The kinds of question that answer a server. Loaded when one asks. */
export { checkbox, input, select } from '@inquirer/prompts';
