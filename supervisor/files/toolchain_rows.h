/* SPDX-License-Identifier: ISC */
/*
 * The managers of toolchains: the name, the directory below the home, the
 * variable that names it to the manager, what it needs as well, and the file of
 * the home in which it finds a version. Of a directory that also holds a
 * credential, such as ~/.cargo, only the programs are listed. This is a part of
 * toolchains.c.
 */
/* clang-format off */
#ifndef TOOLCHAIN
#define TOOLCHAIN(name, dir, variable, also, choice)
#endif
TOOLCHAIN("nvm", ".nvm", "NVM_DIR", NULL, NULL)
TOOLCHAIN("fnm", ".local/share/fnm", "FNM_DIR", NULL, NULL)
TOOLCHAIN("volta", ".volta", "VOLTA_HOME", NULL, NULL)
TOOLCHAIN("npm's prefix", ".npm-global", NULL, NULL, NULL)
TOOLCHAIN("pnpm", ".local/share/pnpm", NULL, NULL, NULL)
TOOLCHAIN("rustup", ".rustup", "RUSTUP_HOME", NULL, NULL)
/* Its programs are rustup's, which runs those of ~/.rustup. */
TOOLCHAIN("cargo", ".cargo/bin", NULL, ".rustup", NULL)
TOOLCHAIN("go", "go/bin", NULL, NULL, NULL)
TOOLCHAIN("go's SDKs", "sdk", NULL, NULL, NULL)
TOOLCHAIN("pyenv", ".pyenv", "PYENV_ROOT", NULL, NULL)
TOOLCHAIN("uv", ".local/share/uv", NULL, NULL, NULL)
TOOLCHAIN("pipx", ".local/share/pipx", NULL, NULL, NULL)
TOOLCHAIN("pipx", ".local/pipx", NULL, NULL, NULL)
TOOLCHAIN("poetry", ".local/share/pypoetry", NULL, NULL, NULL)
TOOLCHAIN("mise", ".local/share/mise", "MISE_DATA_DIR", ".config/mise", ".tool-versions")
TOOLCHAIN("mise's versions", ".config/mise", "MISE_CONFIG_DIR", NULL, NULL)
TOOLCHAIN("asdf", ".asdf", "ASDF_DATA_DIR", NULL, ".tool-versions")
TOOLCHAIN("sdkman", ".sdkman", "SDKMAN_DIR", NULL, NULL)
TOOLCHAIN("coursier", ".local/share/coursier", NULL, NULL, NULL)
TOOLCHAIN(".NET", ".dotnet", NULL, NULL, NULL)
TOOLCHAIN("rbenv", ".rbenv", "RBENV_ROOT", NULL, NULL)
TOOLCHAIN("rvm", ".rvm", NULL, NULL, NULL)
TOOLCHAIN("nodenv", ".nodenv", "NODENV_ROOT", NULL, NULL)
TOOLCHAIN("goenv", ".goenv", "GOENV_ROOT", NULL, NULL)
TOOLCHAIN("jenv", ".jenv", NULL, NULL, NULL)
TOOLCHAIN("ghcup", ".ghcup", NULL, NULL, NULL)
TOOLCHAIN("cabal", ".cabal/bin", NULL, NULL, NULL)
TOOLCHAIN("cabal", ".local/state/cabal", NULL, NULL, NULL)
TOOLCHAIN("opam", ".opam", "OPAMROOT", NULL, NULL)
TOOLCHAIN("elan", ".elan", "ELAN_HOME", NULL, NULL)
TOOLCHAIN("juliaup", ".juliaup", NULL, ".julia/juliaup", NULL)
TOOLCHAIN("julia", ".julia/juliaup", NULL, NULL, NULL)
TOOLCHAIN("krew", ".krew", NULL, NULL, NULL)
TOOLCHAIN("bun", ".bun/bin", NULL, ".bun/install/global", NULL)
TOOLCHAIN("bun", ".bun/install/global", NULL, NULL, NULL)
TOOLCHAIN("deno", ".deno/bin", NULL, NULL, NULL)
TOOLCHAIN("pixi", ".pixi", NULL, NULL, NULL)
TOOLCHAIN("conda", "miniconda3", NULL, NULL, NULL)
TOOLCHAIN("conda", "miniforge3", NULL, NULL, NULL)
TOOLCHAIN("conda", "anaconda3", NULL, NULL, NULL)
TOOLCHAIN("programs of your own", "bin", NULL, NULL, NULL)
TOOLCHAIN("programs of your own", ".local/bin", NULL, NULL, NULL)
/* clang-format on */
