# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# install, uninstall and bundle. PREFIX and DESTDIR as usual; plug-ins go to $(libdir)/assay, where
# libassay and the command line look for them.
.PHONY: install uninstall bundle
DESTDIR    ?=
bindir     ?= $(PREFIX)/bin
libdir     ?= $(PREFIX)/lib
includedir ?= $(PREFIX)/include
datadir    ?= $(PREFIX)/share
mandir     ?= $(datadir)/man
docdir     ?= $(datadir)/doc/assay
INSTALL    ?= install

public_headers = $(wildcard include/assay/*.h include/assay/*.def)

install: default $(if $(CLI_SRCS),$(BUILD)/man/assay.1)
	$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(libdir)/assay $(DESTDIR)$(libdir)/pkgconfig \
	    $(DESTDIR)$(includedir)/assay $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(docdir)
	$(if $(ASSAY),$(INSTALL) -m 755 $(ASSAY) $(DESTDIR)$(bindir)/)
	$(INSTALL) -m 755 $(LIB_SO) $(DESTDIR)$(libdir)/
	ln -sf $(notdir $(LIB_SO)) $(DESTDIR)$(libdir)/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) $(DESTDIR)$(libdir)/libassay.so
	$(INSTALL) -m 644 $(LIB_A) $(DESTDIR)$(libdir)/
	$(if $(PLUGIN_FILES),$(INSTALL) -m 755 $(PLUGIN_FILES) $(DESTDIR)$(libdir)/assay/)
	$(INSTALL) -m 644 $(public_headers) $(DESTDIR)$(includedir)/assay/
	sed -e 's,@prefix@,$(PREFIX),; s,@libdir@,$(libdir),; s,@includedir@,$(includedir),' \
	    -e 's,@version@,$(VERSION),' packaging/assay.pc.in > $(DESTDIR)$(libdir)/pkgconfig/assay.pc
	$(if $(ASSAY),$(INSTALL) -m 644 $(BUILD)/man/*.1 $(DESTDIR)$(mandir)/man1/)
	$(INSTALL) -m 644 LICENSE README.md CHANGELOG.md $(DESTDIR)$(docdir)/
	$(INSTALL) -d $(DESTDIR)$(datadir)/assay/shapes
	$(INSTALL) -m 644 shapes/*.csv $(DESTDIR)$(datadir)/assay/shapes/
	$(INSTALL) -m 644 third_party/chartjs/LICENSE.md $(DESTDIR)$(docdir)/chartjs-license.md

$(BUILD)/man/assay.1: $(BUILD)/bin/assay scripts/gen-man
	$(call say,GEN  $@)
	$(Q)scripts/gen-man $< $(@D)

uninstall:
	rm -f $(DESTDIR)$(bindir)/assay $(DESTDIR)$(libdir)/libassay.so* $(DESTDIR)$(libdir)/libassay.a \
	    $(DESTDIR)$(libdir)/pkgconfig/assay.pc $(PLUGINS:%=$(DESTDIR)$(libdir)/assay/assay_%.so) \
	    $(public_headers:include/%=$(DESTDIR)$(includedir)/%) \
	    $(DESTDIR)$(mandir)/man1/assay.1 $(DESTDIR)$(mandir)/man1/assay-*.1
	rm -rf $(DESTDIR)$(docdir) $(DESTDIR)$(datadir)/assay
	-rmdir $(DESTDIR)$(libdir)/assay $(DESTDIR)$(includedir)/assay 2>/dev/null

# ---- bundle: a folder that runs wherever it is put --------------------------------------------
# DT_RPATH, not DT_RUNPATH: only the former also serves the libraries of our libraries.
BUNDLE := $(BUILD)/bundle/assay-$(VERSION)
# Libraries that plug-ins open, 90 MB in all; those that are not installed stay out.
# make bundle BUNDLE_LIBS="blis sleef" takes some (14 MB), BUNDLE_LIBS= none.
BUNDLE_LIBS ?= openblas blis onednn sleef
bundle_rpath = -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/$(1)'

bundle: default
	rm -rf $(BUNDLE)
	mkdir -p $(BUNDLE)/bin $(BUNDLE)/lib/assay $(BUNDLE)/share/doc/assay $(BUNDLE)/share/assay
	cp -r shapes $(BUNDLE)/share/assay/
	rm -r $(BUNDLE)/share/assay/shapes/sources
	$(if $(ASSAY),$(link_assay) $(call bundle_rpath,../lib) -o $(BUNDLE)/bin/assay)
	$(link_lib) $(call bundle_rpath,.) -o $(BUNDLE)/lib/$(notdir $(LIB_SO))
	ln -s $(notdir $(LIB_SO)) $(BUNDLE)/lib/$(LIB_SONAME)
	$(foreach p,$(PLUGIN_FILES),$($(patsubst assay_%.so,%,$(notdir $(p)))_link) $(call bundle_rpath,..) \
	    -o $(BUNDLE)/lib/assay/$(notdir $(p)) &&) true
	cp LICENSE README.md $(BUNDLE)/share/doc/assay/
	cp third_party/chartjs/LICENSE.md $(BUNDLE)/share/doc/assay/chartjs-license.md
	scripts/bundle-libs $(BUNDLE) $(BUNDLE_LIBS)
	tar -C $(dir $(BUNDLE)) --sort=name --owner=0 --group=0 --numeric-owner -czf \
	    $(BUILD)/bundle/assay-$(VERSION)-$(shell $(CC) -dumpmachine).tar.gz $(notdir $(BUNDLE))
