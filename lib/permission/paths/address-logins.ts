/** The user information of a URL: a name and password, or a token. */
const USER_INFO = /:\/\/([^\s/@"'`<>]{1,512})@/g;

/** Placeholders that examples have instead of a password. */
const PLACEHOLDER =
  /^(?:.{0,2}|(?:my|your)?[-_]?(?:pass(?:word|wd|phrase|code)?|pw|pwd|secret|token|api[-_]?key|key|user(?:name)?|login)|x+|\*+|\.{3}|…|[$%{[(].*)$/i;

/** A name of this length with a digit is a token, not a user name. */
const TOKEN = /^(?=.*\d)[\w.%~-]{20,}$/;

/** Replaces passwords and tokens in URLs (`https://name:PASSWORD@host`) with what `replaced` returns for each. */
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

/** The end of a text that may be the beginning of a URL with credentials. */
export const LOGIN_START = /:(?:\/(?:\/[^\s/@"'`<>]{0,512})?)?$/;
