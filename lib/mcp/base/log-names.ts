/** Matches the names of the logs of servers, and of no other files of their folder. */
export const LOGS = /\.log(?:\.old)?$/;
