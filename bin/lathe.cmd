@echo off
rem Starts the command line on Windows; see bin/lathe. A build that is missing or stale is made first.
setlocal
set "root=%~dp0.."
set "node=%root%\node_modules\node\bin\node.exe"
if not exist "%node%" set "node=node"
set "start=%root%\cli\out\main\lathe.js"
if exist "%root%\scripts\build.ts" (
  set "start=%root%\out\main\lathe.js"
  "%node%" "%root%\scripts\build.ts" --if-stale 1>&2 || exit /b 1
)
"%node%" "%start%" %*
exit /b %errorlevel%
