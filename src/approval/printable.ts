/** Text for a person's eyes: control, bidirectional and zero-width characters are shown as escapes, line ends stay. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- finding control characters is what it is for
  return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu, (character) =>
    character === "\t" ? "\t" : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}
