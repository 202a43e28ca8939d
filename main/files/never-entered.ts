/** Folders that are never entered, by name (F-802). The first three not even with `no_ignore`. */
export const historyFolders = ['.git', '.hg', '.svn']

export const neverEntered: ReadonlySet<string> = new Set([
  ...historyFolders,
  'node_modules',
  'bower_components',
  '__pycache__',
  '.venv',
  'venv',
  '.tox',
  '.mypy_cache',
  '.pytest_cache',
  '.gradle',
  '.terraform',
  '.next',
  '.turbo',
])
