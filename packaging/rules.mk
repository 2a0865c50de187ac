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

# One word for the shell, whatever is in it.
to = '$(subst ','\'',$(DESTDIR)$(1))'
# Of a value in sed's replacement.
in_sed = $(subst &,\&,$(subst $(comma),\$(comma),$(subst ','\'',$(subst \,\\,$(1)))))
comma := ,

install: default $(if $(CLI_SRCS),$(BUILD)/man/assay.1)
	$(INSTALL) -d $(call to,$(bindir)) $(call to,$(libdir)/assay) $(call to,$(libdir)/pkgconfig) \
	    $(call to,$(includedir)/assay) $(call to,$(mandir)/man1) $(call to,$(docdir))
	$(if $(ASSAY),$(INSTALL) -m 755 $(ASSAY) $(call to,$(bindir)/))
	$(INSTALL) -m 755 $(LIB_SO) $(call to,$(libdir)/)
	ln -sf $(notdir $(LIB_SO)) $(call to,$(libdir)/$(LIB_SONAME))
	ln -sf $(LIB_SONAME) $(call to,$(libdir)/libassay.so)
	$(INSTALL) -m 644 $(LIB_A) $(call to,$(libdir)/)
	$(if $(PLUGIN_FILES),$(INSTALL) -m 755 $(PLUGIN_FILES) $(call to,$(libdir)/assay/))
	$(INSTALL) -m 644 $(public_headers) $(call to,$(includedir)/assay/)
	sed -e 's,@prefix@,$(call in_sed,$(PREFIX)),; s,@libdir@,$(call in_sed,$(libdir)),' \
	    -e 's,@includedir@,$(call in_sed,$(includedir)),; s,@version@,$(VERSION),' \
	    packaging/assay.pc.in > $(call to,$(libdir)/pkgconfig/assay.pc)
	$(if $(ASSAY),$(INSTALL) -m 644 $(BUILD)/man/*.1 $(call to,$(mandir)/man1/))
	$(INSTALL) -m 644 LICENSE README.md CHANGELOG.md $(call to,$(docdir)/)
	$(INSTALL) -d $(call to,$(datadir)/assay/shapes)
	$(INSTALL) -m 644 shapes/*.csv $(call to,$(datadir)/assay/shapes/)
	$(INSTALL) -m 644 third_party/chartjs/LICENSE.md $(call to,$(docdir)/chartjs-license.md)

$(BUILD)/man/assay.1: $(BUILD)/bin/assay scripts/gen-man
	$(call say,GEN  $@)
	$(Q)scripts/gen-man $< $(@D)

uninstall:
	rm -f $(call to,$(bindir)/assay) $(call to,$(libdir)/libassay.so)* $(call to,$(libdir)/libassay.a) \
	    $(call to,$(libdir)/pkgconfig/assay.pc) \
	    $(foreach p,$(PLUGINS),$(call to,$(libdir)/assay/assay_$(p).so)) \
	    $(foreach h,$(notdir $(public_headers)),$(call to,$(includedir)/assay/$(h))) \
	    $(call to,$(mandir)/man1/assay.1) $(call to,$(mandir)/man1/assay-)*.1
	rm -rf $(call to,$(docdir)) $(call to,$(datadir)/assay)
	-rmdir $(call to,$(libdir)/assay) $(call to,$(includedir)/assay) 2>/dev/null

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
