export const newlinesIn = (text: string): number => text.split('\n').length - 1;
