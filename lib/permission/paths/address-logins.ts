/** A name and password, or a token, in an address. */
const USER_INFO = /:\/\/([^\s/@"'`<>]{1,512})@/g;

/** What stands for a password in examples. */
const PLACEHOLDER =
  /^(?:.{0,2}|(?:my|your)?[-_]?(?:pass(?:word|wd|phrase|code)?|pw|pwd|secret|token|api[-_]?key|key|user(?:name)?|login)|x+|\*+|\.{3}|…|[$%{[(].*)$/i;

/** A name of this length with a digit is a token, and no name of a user. */
const TOKEN = /^(?=.*\d)[\w.%~-]{20,}$/;

/** Replaces passwords and tokens in addresses (`https://name:PASSWORD@host`) by what `replaced` makes of each. */
export function replaceLogins(text: string, replaced: (secret: string) => string): string {
  if (!text.includes('://')) return text;
  return text.replace(USER_INFO, (found, userInfo: string) => {
    const [user = '', ...rest] = userInfo.split(':');
    const password = rest.join(':');
    const secret = rest.length > 0 ? password : user;
    const isSecret = rest.length > 0 ? !PLACEHOLDER.test(password) && password !== user : TOKEN.test(user);
    const end = found.length - 1;
    return isSecret ? `${found.slice(0, end - secret.length)}${replaced(secret)}@` : found;
  });
}

/** What may be the beginning of an address with a log-in, at the end of a text. */
export const LOGIN_START = /:(?:\/(?:\/[^\s/@"'`<>]{0,512})?)?$/;
