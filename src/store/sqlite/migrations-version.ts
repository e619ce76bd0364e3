/** The `pragma user_version` of a database with every migration, so that a start need not load the migrator. */
export const currentVersion = 13
