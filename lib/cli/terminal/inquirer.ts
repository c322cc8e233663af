/** The kinds of question the program asks, so that the bundle holds no others. Loaded when something is asked. */
export { confirm, input, password, search, select } from '@inquirer/prompts';
