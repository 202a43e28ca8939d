/** The highlighter's name for a file, by its name; an unknown one is shown plain. */
const byName: Record<string, string> = {
  dockerfile: 'docker',
  containerfile: 'docker',
  makefile: 'make',
  gnumakefile: 'make',
  'cmakelists.txt': 'cmake',
  '.bashrc': 'bash',
  '.zshrc': 'bash',
  '.profile': 'bash',
  '.gitignore': 'ini',
  '.npmrc': 'ini',
  '.editorconfig': 'ini',
  'go.mod': 'go',
  'cargo.lock': 'toml',
  gemfile: 'ruby',
  rakefile: 'ruby',
}
const byExtension: Record<string, string> = {
  mts: 'ts',
  cts: 'ts',
  mjs: 'js',
  cjs: 'js',
  h: 'c',
  hh: 'cpp',
  hpp: 'cpp',
  cc: 'cpp',
  cxx: 'cpp',
  kt: 'kotlin',
  kts: 'kotlin',
  htm: 'html',
  svg: 'xml',
  xsd: 'xml',
  plist: 'xml',
  yml: 'yaml',
  mdx: 'mdx',
  markdown: 'md',
  ps1: 'powershell',
  bat: 'bat',
  cmd: 'bat',
  gql: 'graphql',
  tf: 'hcl',
  ex: 'elixir',
  exs: 'elixir',
  erl: 'erlang',
  hs: 'haskell',
  ml: 'ocaml',
  pl: 'perl',
  jl: 'julia',
  m: 'objective-c',
  patch: 'diff',
  conf: 'ini',
  cfg: 'ini',
  env: 'ini',
  lock: 'yaml',
}

export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  if (byName[name]) return byName[name]
  const dot = name.lastIndexOf('.')
  if (dot < 0) return ''
  const extension = name.slice(dot + 1)
  return byExtension[extension] ?? extension
}
