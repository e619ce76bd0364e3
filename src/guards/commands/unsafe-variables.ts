/** Variables that only change how output looks. */
const harmless =
  /^(?:NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLORTERM|TERM|COLUMNS|LINES|LANG|LANGUAGE|LC_[A-Z]+|TZ|CI|NODE_ENV|NODE_NO_WARNINGS|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|NPM_CONFIG_COLOR|npm_config_color)$/

/** The first variable that could change what runs or is read; undefined when all are harmless. */
export function unsafeVariable(variables: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(variables))
    if (!harmless.test(name) || !/^[\w.,:@+-]*$/.test(value)) return name
  return undefined
}
